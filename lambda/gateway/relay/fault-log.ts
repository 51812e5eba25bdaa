/**
 * One line for a fault of our own. The error's message stays out of it: it may quote what it failed on, which may be a body or
 * a credential.
 */
export const logFault = (requestId: string, error: unknown): void => {
  const { name, stack = '' } = error instanceof Error ? error : new Error('not an error');
  const frames = stack.split('\n').filter((line) => line.startsWith('    at '));
  console.error(
    JSON.stringify({ level: 'ERROR', message: 'gateway fault', requestId, errorName: name, stack: frames }),
  );
};
