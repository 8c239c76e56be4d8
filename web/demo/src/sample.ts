/** What the page begins with: a support mail. Nobody in it exists; the phone number and the domain are reserved for examples. */
export const SAMPLE = `Subject: my order 8841-22 arrived broken

Hello,

my name is Anna Novak. I ordered a kettle for my mother in Boston on 12 May, and it did not arrive before Thursday. The lid was broken. Please call me at 617-555-0143 after 5 pm, or write to anna.novak@example.com. I cannot pay for the zorbix cable either: my doctor says I should rest until June.

Thank you,
Anna`;
