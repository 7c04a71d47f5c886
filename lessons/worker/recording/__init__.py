"""Record what code does to tensors while it runs: operations, writes, names and lines."""
