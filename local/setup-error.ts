/** The stack cannot run as things are. The message is one sentence that says what to do; it needs no stack trace. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}
