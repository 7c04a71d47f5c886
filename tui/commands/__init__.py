"""The commands of `attn-tutor`, one module per verb."""
