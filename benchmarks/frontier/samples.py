"""Five sentences of our own, released once by every row."""

SENTENCES = (
    "Hi, I'm Maria Lopez and my card was charged twice on Monday.",
    "The nurse said my blood pressure is too high and I should rest.",
    "Please send the signed contract to our office in Denver before 5 March.",
    "My brother lost his job at Microsoft and can't pay the rent.",
    "We loved the small hotel, but the food was not good at all.",
)
