/**
 * Adds a second policy to the page, which is enforced beside the first one and cannot be taken back.
 *
 * From here on neither the page nor a worker of it can connect, or load a script, a style, an image or a frame, its own
 * files included: a `'self'` anywhere would let a page prefetch any address of its host. Workers are made from code that
 * was loaded before, and a worker from a blob inherits the policies that its page has when it starts.
 */
export function lock(): void {
  const policy = document.createElement("meta");
  policy.httpEquiv = "Content-Security-Policy";
  policy.content = "default-src 'none'; worker-src blob:; base-uri 'none'; form-action 'none'";
  document.head.append(policy);
}
