"""Steps as a learner works on them, whoever shows them: what each is, what may be done there, and what is kept."""
