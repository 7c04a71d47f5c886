"""What a learner takes home: what they read, wrote and saw, as files that need no tutor."""
