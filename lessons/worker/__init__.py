"""The worker: what runs code, records and explains it, with torch, in processes of its own."""
