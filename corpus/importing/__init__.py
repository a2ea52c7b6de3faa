"""Question sets of others, as documents and questions of ours. Each format reads into `Material`, and nothing else."""
