/** What a part says of itself when asked. */
export interface PartStats {
  readonly rssBytes: number;
  readonly heapBytes: number;
  /** CPU seconds so far. */
  readonly cpuSeconds: number;
  /** Sockets, timers and so on that keep the process, by kind. */
  readonly resources: Readonly<Record<string, number>>;
}

export type PartMessage =
  | { readonly kind: 'ready'; readonly port: number }
  | { readonly kind: 'stats'; readonly stats: PartStats };
export type PartQuestion = 'stats' | 'stop';

const stats = (): PartStats => {
  // Exposed by --expose-gc: what is left is what is held.
  (globalThis as { gc?: () => void }).gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const resources: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  return { rssBytes: rss, heapBytes: heapUsed, cpuSeconds: (user + system) / 1e6, resources };
};

/** The child's side: reports that it is ready, replies to questions, and ends on request or when its parent is gone. */
export const servePart = (port: number, stop: () => Promise<unknown>): void => {
  const tell = (message: PartMessage): void => void process.send?.(message);
  process.on('message', (question: PartQuestion) => {
    if (question === 'stats') tell({ kind: 'stats', stats: stats() });
    else void stop().finally(() => process.exit(0));
  });
  process.on('disconnect', () => process.exit(0));
  tell({ kind: 'ready', port });
};
