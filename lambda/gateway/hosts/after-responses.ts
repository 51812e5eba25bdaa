/** Enough for a client on the same machine to read the end of its response. An event takes longer than that to the queue. */
const WAIT_MS = 1;

/**
 * Makes what runs the work after responses: a millisecond later, all of that time together. Where processors are few, the kernel may not
 * deliver what was written until this process pauses: the client would wait for that work.
 */
export const afterResponses = (): ((work: () => void) => void) => {
  let waiting: (() => void)[] = [];
  const run = (): void => {
    const due = waiting;
    waiting = [];
    for (const work of due) work();
  };
  return (work) => {
    if (waiting.push(work) === 1) setTimeout(run, WAIT_MS);
  };
};
