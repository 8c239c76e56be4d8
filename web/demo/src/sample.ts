/** What the page begins with: a support mail. Nobody in it exists; the phone number and the domain are reserved for examples. */
export const SAMPLE = `Hello, my name is Anna Novak. My order 8841-22, a kettle for my mother in Boston, was to come on 12 May. It came on Thursday, and the lid was broken. Please call me at 617-555-0143 after 5 pm, or write to anna.novak@example.com. I cannot pay for the zorbix cable either: my doctor says I should rest until June.

Thank you, Anna`;
