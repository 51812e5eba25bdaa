interface RetiredWord {
  /** Matched word by word, in names too: `foldLevel` reads "fold Level". */
  readonly pattern: RegExp;
  readonly use: string;
  /** Lines in which the word means something else. */
  readonly exception?: RegExp;
}

/** The words that this project no longer uses, and what it says instead. docs/glossary.md has its terms. */
const retiredWords: readonly RetiredWord[] = [
  { pattern: /\bscarcity\b|\bsetbacks?\b|\blean\b/gi, use: 'an ordinary word' },
  { pattern: /\bso (many|much)\b(?! (as|that))/gi, use: 'this number of, at most' },
  { pattern: /\bfor who\b/gi, use: 'for anyone who, or no such sentence' },
  { pattern: /\b(un)?answer(s|ed|ing)?\b/gi, use: 'response, respond' },
  { pattern: /\b(un)?seal(s|ed|ing|er)?\b/gi, use: 'roll up, rollup' },
  { pattern: /\b(un)?fold(s|ed|ing)?\b/gi, use: 'overflow' },
  { pattern: /\bcells?\b/gi, use: 'counter, counter slot', exception: /csv|spreadsheet|<t[dh]\b|ADD cells|\(cells\)/i },
  { pattern: /\b(un)?park(s|ed|ing)?\b/gi, use: 'outbox entry, write to the outbox' },
  { pattern: /\bfates?\b/gi, use: 'result' },
  { pattern: /\bdrivers?\b/gi, use: 'contributor, cause' },
  { pattern: /\bobserved\b|\bobservations?\b/gi, use: 'figure, judgement' },
  { pattern: /\bfirings?\b/gi, use: 'alert' },
  { pattern: /\bextras\b/gi, use: 'billable items' },
  { pattern: /\btold\b|\btell(s|ing)?\s+of\b|\bsay(s|ing)?\s+nothing\s+of\b/gi, use: 'reported, does not report' },
  { pattern: /\bbesides?\b/gi, use: 'next to, separate from; also' },
  { pattern: /\bclients?\s+((that|who)\s+)?(ha(s|ve)\s+)?(left|leaves?|leaving)\b/gi, use: 'disconnected' },
  { pattern: /\b(breaks?|broken?|breaking)\s+(\w+\s+)?off\b/gi, use: 'interrupted' },
  {
    pattern: /\b(time)?spans?\b/gi,
    use: 'period, range; tracking gap',
    exception: /<\/?span\b|\b(col|row)Span\b|\bspan [0-9]|\bspan=/,
  },
  { pattern: /\b(un)?believabl[ey]\b/gi, use: 'plausible' },
  { pattern: /\brigs?\b/gi, use: 'fixture, harness' },
  { pattern: /\bstand-?ins?\b|\bstand(s|ing)?\s+in\s+for\b/gi, use: 'fake' },
  {
    pattern: /\b(un)?settl(e|es|ed|ing|ements?)\b/gi,
    use: 'finish (a request), resolve (a price), deliver (an event)',
    exception: /\ballSettled\b|\bPromiseSettledResult\b/,
  },
];

/** Names that stored items have for good: key prefixes of lambda/data/table/keys.ts, attributes. */
const storedNames = /\b(UN)?SEALED\b|\bCELLS\b|\bPARKED\b|\bANSWER#|\bparkedAt\b/g;

/** Here former names stand next to the present ones, as code. */
const listsFormerNames = (path: string): boolean =>
  ['lambda/domain/spend/former-names.ts', 'CHANGELOG.md'].includes(path);

const separateWords = (text: string): string => text.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll('_', ' ');

/** A message for each retired word in a text, with file, line, word and replacement. */
export const findRetiredWords = (path: string, text: string): string[] => {
  const lines = text.split('\n');
  const kept = listsFormerNames(path) ? text.replaceAll(/'\w+'|`[\w.-]+`/g, '') : text;
  const words = separateWords(kept.replaceAll(storedNames, ''));
  const messages = retiredWords.flatMap(({ pattern, use, exception }) =>
    [...words.matchAll(pattern)].flatMap(({ 0: word, index }) => {
      const line = words.slice(0, index).split('\n').length;
      if (exception?.test(lines[line - 1] ?? '')) return [];
      return [`${path}:${line}: "${word.replaceAll(/\s+/g, ' ')}" is retired; say: ${use}`];
    }),
  );
  return [...new Set(messages)];
};

const mapLines = (source: string, map: (line: string) => string): string => source.split('\n').map(map).join('\n');

/** The names a module exports, each in its line. */
export const exportedNames = (source: string): string =>
  mapLines(
    source,
    (line) => /^export (?:async |abstract )*(?:const|function|class|interface|type) (\w+)/.exec(line)?.[1] ?? '',
  );

/** Every string of the form of a metric's name, each in its line. */
export const metricNames = (source: string): string =>
  mapLines(source, (line) => [...line.matchAll(/'([A-Z]\w+)'/g)].map(([, name]) => name).join(' '));

const COMMENT = /^\s*(?:\/\/+|\/\*+|\*(?= |$))(.*)|(?:^|[\s{])\/[/*]\s(.*)/;
const STRINGS = /'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`|"([^"]*)"|>([^<>{}=()]+)</g;

/** What people read of a source file, each in its line: comments, and texts of more than one word. */
export const proseOf = (source: string): string =>
  mapLines(source, (line) => {
    const comment = COMMENT.exec(line);
    if (comment) return (comment[1] ?? comment[2] ?? '').replace(/\*\/\}?$/, '');
    return [...line.matchAll(STRINGS)]
      .map((match) => match.slice(1).find((text) => text !== undefined) ?? '')
      .filter((text) => text.trim().includes(' '))
      .join(' ');
  });
