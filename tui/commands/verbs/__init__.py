"""The verbs of `attn-tutor`, one module for each, which is imported only to do its work."""
