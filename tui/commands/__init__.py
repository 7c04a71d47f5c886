"""What the verbs of `attn-tutor` have in common; each verb is a module of `tui.commands.verbs` or `tui.programs`."""
