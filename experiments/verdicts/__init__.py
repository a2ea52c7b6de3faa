"""What the evidence says, in plain sentences, a module for each page. Nothing is better without a resolved test."""
