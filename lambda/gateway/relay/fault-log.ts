/**
 * Logs a fault of the gateway itself, in one line. Without the error's message, which may quote a body or a credential.
 */
export const logFault = (requestId: string, error: unknown): void => {
  const { name, stack = '' } = error instanceof Error ? error : new Error('not an error');
  const frames = stack.split('\n').filter((line) => line.startsWith('    at '));
  console.error(
    JSON.stringify({ level: 'ERROR', message: 'gateway fault', requestId, errorName: name, stack: frames }),
  );
};
