"""What a learner meets: the command, the screens and the widgets."""
