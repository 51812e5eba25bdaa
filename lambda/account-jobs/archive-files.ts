import { keptDays, readPage } from '../data/accounts/account-items.ts';
import { openServiceKeys } from '../data/accounts/service-keys.ts';
import type { openRequests } from '../data/requests/requests.ts';
import { openSpend } from '../data/spend/spend.ts';
import * as keys from '../data/table/keys.ts';
import { findItem } from '../data/table/read.ts';
import type { Table } from '../data/table/table.ts';
import { shownWebhookUrl } from '../domain/alerts/channels.ts';
import { boundsOf, type Day, endOf, monthOf } from '../domain/calendar/utc.ts';
import { spendCsv } from '../domain/spend/spend-csv.ts';

/** A file of an archive, and where the archive goes on after it. */
export interface ArchiveFile {
  readonly name: string;
  readonly text: string;
  readonly next: ArchivePosition;
}

/** A section is written from its beginning (`after` is null), or from behind the item that `after` names. */
export interface ArchivePosition {
  readonly section: number;
  readonly after: string | null;
  readonly file: number;
}

/** A longer file is split: it is held in memory. */
const MAX_CHARACTERS = 4_000_000;

/** Items that the service notes for itself, or that are in other files. */
const BOOKKEEPING: ReadonlySet<string | undefined> = new Set(
  [
    keys.counterSlotsKey('', ''),
    keys.firedKey('', '', ''),
    keys.countedResponseKey('', '', ''),
    keys.judgedAccountKey(''),
    keys.uncountedKey('', ''),
    keys.monthKey('', ''),
    keys.invitationMailsKey('', ''),
    keys.archiveKey('', ''),
  ].map(({ sk }) => sk.split('#')[0]),
);

/** Members that are secrets, or hashes of secrets, under every name that the table uses. */
const SECRET_NAME = /(secret|hash|hashes|password)$/i;
/** The account key is a service key; the targets of a rule's channels, and the headers of a destination, are credentials. */
const SECRET_NAMES: ReadonlySet<string> = new Set(['accountKey', 'code', 'headers', 'targets']);
/** How the table finds an item. */
const TABLE_NAMES: ReadonlySet<string> = new Set(['pk', 'sk', 'gsi1pk', 'gsi1sk', 'expiresAt']);

/** A stored item as its owner may read it: without secrets, at any depth, and without the table's own members. */
const withoutSecrets = (item: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const copy = (value: unknown): unknown => {
    if (typeof value === 'string' && value.startsWith('https://')) return shownWebhookUrl(value);
    if (Array.isArray(value)) return value.map(copy);
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
    if (value instanceof Set) return [...value];
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !SECRET_NAME.test(name) && !SECRET_NAMES.has(name))
        // The table has no order of members: the same item makes the same line.
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, member]) => [name, copy(member)]),
    );
  };
  const members = Object.entries(item).filter(([name]) => !TABLE_NAMES.has(name));
  return copy(Object.fromEntries(members)) as Record<string, unknown>;
};

/** One item as a line: where it is, and what is on the line; undefined where it is not for the archive. */
type LineOf = (item: Record<string, unknown>) => unknown;

interface Section {
  /** Name of its first file. */
  readonly name: string;
  /** Texts behind a position, each with its own. */
  readonly texts: (after: string | null) => AsyncIterable<{ readonly after: string; readonly text: string }>;
}

const textOf = (line: unknown): string => (line === undefined ? '' : `${JSON.stringify(line)}\n`);

/** A section that is written at once. */
const whole = (name: string, text: () => Promise<string>): Section => ({
  name,
  texts: async function* (after) {
    if (after === null) yield { after: 'end', text: await text() };
  },
});

const README = `Everything of your account in AI Spend Gateway, without secrets.

account.jsonl          the account; its members, invitations, projects, keys, tokens, rules, budgets, views and alerts: one a line, with "kind"
audit.jsonl            who changed what, when and from where
requests/DAY.jsonl     request records, one a line. Costs are in nano-USD (1e-9 USD); null is unknown
sessions/DAY.jsonl     sums by session and agent
spend/MONTH.csv        spend by day, provider, model, tag and key

A long file goes on in another one, with -2, -3 … in its name. Times are UTC.
`;

/**
 * The files of an account's archive, from a position on. Sections without items have no file.
 *
 * @param requestedAt which days and months there are: the same for every run
 */
export const openArchiveFiles = (table: Table, requests: Pick<ReturnType<typeof openRequests>, 'all'>) => {
  const spend = openSpend(table);
  const serviceKeys = openServiceKeys(table);

  const accountLine: LineOf = async (item) => {
    const { pk, sk } = item as unknown as keys.Key;
    const [kind = '', budgetId] = sk.split('#');
    if (kind === 'OVERRIDE')
      return withoutSecrets({ ...item, kind: 'override', budgetId, value: keys.parseValueSk(sk) });
    if (BOOKKEEPING.has(kind) || pk.startsWith(keys.blocksKey('').pk)) return undefined;
    const user =
      kind === 'USER' && (await findItem(table, keys.userKey(String(item['userId'])), { consistent: false }));
    return withoutSecrets({ ...item, ...user, kind: kind === 'META' ? 'account' : kind.toLowerCase() });
  };

  /** Empty for a month without spend. */
  const spendOf = async (accountId: string, month: string): Promise<string> => {
    const range = { granularity: 'day', from: `${month}-01T00:00:00.000Z`, to: endOf(month).toISOString() } as const;
    const groupBy = ['provider', 'model', 'tag', 'keyId'] as const;
    const names = new Map((await serviceKeys.list(accountId)).map(({ keyId, name }) => [keyId, name]));
    const counters = spend.read({ accountId, range, groupBy });
    const named = (async function* () {
      for await (const counter of counters) {
        const { keyId } = counter.dimensions;
        yield { ...counter, dimensions: { ...counter.dimensions, keyId: names.get(keyId ?? '') ?? keyId } };
      }
    })();
    const lines = spendCsv(named, { range, groupBy, filter: {} }, (name) => (name === 'keyId' ? 'key' : name));
    const [header = '', ...buckets] = await Array.fromAsync(lines);
    return buckets.length === 0 ? '' : header + buckets.join('');
  };

  /** Items of some partitions, one after the other. A position is the index of a partition and the sort key of an item. */
  const itemsOf = (name: string, partitions: readonly string[], lineOf: LineOf): Section => ({
    name: `${name}.jsonl`,
    texts: async function* (from) {
      const [, startAt = 0, startAfter = null] = /^(\d+) (.*)$/s.exec(from ?? '') ?? [];
      for (const [index, pk] of partitions.entries()) {
        if (index < Number(startAt)) continue;
        let after = index === Number(startAt) ? startAfter : null;
        do {
          const page: Awaited<ReturnType<typeof readPage>> = await readPage(table, pk, after);
          for (const item of page.items)
            yield { after: `${index} ${String(item['sk'])}`, text: textOf(await lineOf(item)) };
          after = page.after;
        } while (after !== null);
      }
    },
  });

  /** Finds the day's records in the table or its file, even if they move meanwhile. */
  const requestsOf = (accountId: string, day: Day): Section => ({
    name: `requests/${day}.jsonl`,
    texts: async function* (after) {
      const position = after ? { day, requestId: after } : null;
      for await (const record of requests.all(accountId, boundsOf(day), { position })) {
        const {
          accountId: _,
          revision,
          shard,
          expiresAt,
          overflowLevel,
          keptDimensions,
          allocations,
          ...line
        } = record;
        yield { after: record.requestId, text: textOf(line) };
      }
    },
  });

  const sectionsOf = (accountId: string, requestedAt: Date): Section[] => {
    const days = keptDays(requestedAt);
    const months = [...new Set(days.map(monthOf))];
    return [
      whole('README.txt', async () => README),
      itemsOf('account', [keys.accountKey(accountId).pk, keys.blocksKey(accountId).pk], accountLine),
      itemsOf('audit', [keys.auditPartition(accountId)], withoutSecrets),
      ...months.map((month) => whole(`spend/${month}.csv`, () => spendOf(accountId, month))),
      ...days.flatMap((day) => [
        requestsOf(accountId, day),
        itemsOf(`sessions/${day}`, [keys.sessionPartition(accountId, day)], (item) => ({
          ...keys.parseSessionCounterSk(String(item['sk'])),
          ...withoutSecrets(item),
        })),
      ]),
    ];
  };

  /** A section as files of a bounded size. */
  async function* filesOf({ name, texts }: Section, { section, after: from, file: written }: ArchivePosition) {
    let file = written;
    let text = '';
    for await (const { after, text: more } of texts(from)) {
      text += more;
      if (text.length < MAX_CHARACTERS) continue;
      file += 1;
      yield { name: fileName(name, file), text, next: { section, after, file } };
      text = '';
    }
    const next = { section: section + 1, after: null, file: 0 };
    if (text !== '') yield { name: fileName(name, file + 1), text, next };
    yield { next };
  }

  /**
   * @yields each file; a position alone where a section has none
   * @param from where the archive goes on
   */
  async function* read(
    accountId: string,
    requestedAt: Date,
    from: ArchivePosition,
  ): AsyncGenerator<(ArchiveFile | { readonly next: ArchivePosition }) & { readonly sections: number }> {
    const all = sectionsOf(accountId, requestedAt);
    let position = from;
    while (position.section < all.length)
      for await (const file of filesOf(all[position.section] as Section, position)) {
        position = file.next;
        yield { ...file, sections: all.length };
      }
  }
  return { read };
};

const fileName = (name: string, file: number): string => (file === 1 ? name : name.replace('.', `-${file}.`));

export type ArchiveFiles = ReturnType<typeof openArchiveFiles>;
