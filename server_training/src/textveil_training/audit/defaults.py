"""Define the default numbers of draws and the default confidence of audits."""

#: Number of draws of each of the two inputs in the pair test.
DRAWS = 20_000
#: Number of draws when a bundle's sampler is compared with its exact probabilities.
SAMPLER_DRAWS = 1_000_000
#: Probability that a reported bound does not exceed the true epsilon.
CONFIDENCE = 0.999
