"""What `attn-tutor doctor` looks at. No module here imports at its top what a broken installation may lack."""
