"""Pictures of tensors as pure functions from data to lines."""
