import type { PriceVersions } from '../../lambda/data/prices/price-versions.ts';
import type { SourcedChange, WaitingChange } from '../../lambda/domain/price/feed/next-lists.ts';

/** USD per million tokens. */
const shownPrices = (prices: SourcedChange['before']): string =>
  prices === null
    ? 'none'
    : Object.entries(prices)
        .map(([kind, usd]) => `${kind} ${usd}`)
        .join(', ');

const shownChange = ({ source, provider, model, before, after }: SourcedChange): string =>
  `${provider} ${model}  ${shownPrices(before)} → ${shownPrices(after)}  (${source})`;

const shownWaiting = (change: WaitingChange): string =>
  `  ${change.number}  ${shownChange(change)}, ${change.decision ?? 'waits'} (${change.why ?? 'step'}), seen since ${change.firstSeenAt}`;

const MAX_VERSIONS = 10;

/** Lines that say how the feed stands: its newest versions with what each changed, then the changes that wait for a person. */
export const feedLines = async (versions: Pick<PriceVersions, 'readFeed' | 'list'>): Promise<string[]> => {
  const { version, checkedAt, waiting } = await versions.readFeed();
  const lines = [
    version === 0 ? 'No version yet: the prices in the code hold.' : `Version ${version} holds.`,
    checkedAt === null ? 'Not all sources could be read so far.' : `All sources were read last at ${checkedAt}.`,
  ];
  let shown = 0;
  for await (const { number, acceptedAt, sha256, changes } of versions.list()) {
    if (++shown > MAX_VERSIONS) break;
    lines.push(
      '',
      `Version ${number}, ${acceptedAt}, SHA-256 ${sha256}, ${changes.length} ${changes.length === 1 ? 'change' : 'changes'}:`,
    );
    lines.push(...changes.map((change) => `  ${shownChange(change)}`));
  }
  if (version > MAX_VERSIONS) lines.push('', `${version - MAX_VERSIONS} versions before are not shown.`);
  lines.push(
    '',
    waiting.length === 0
      ? 'No change waits.'
      : 'Changes that wait (USD per million tokens; those of oneSource hold meanwhile, as estimates):',
  );
  lines.push(...waiting.map(shownWaiting));
  return lines;
};
