"""What keeps a learner's program from doing harm: limits, and the layers of the kernel that this host has."""
