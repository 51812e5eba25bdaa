/** A message for channels: an alert or a report, before it has the form of a service. Texts may quote what users and clients wrote. */
export interface Message {
  /** For services that join repeated messages. */
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  /** After the summary, line by line. */
  readonly facts: readonly { readonly label: string; readonly text: string }[];
  /** The page that it is about, then others. */
  readonly links: readonly [MessageLink, ...MessageLink[]];
  /** For PagerDuty: nothing is left to do about it. */
  readonly isOver?: boolean;
  /** For PagerDuty. */
  readonly severity: 'critical' | 'warning' | 'info';
  /** The kind of alert or report. */
  readonly type: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  /** The same for programs. */
  readonly event: { readonly event_type: string; readonly event_payload: Readonly<Record<string, unknown>> };
}

interface MessageLink {
  readonly text: string;
  readonly url: string;
}

/**
 * Clients choose models and tags: with a line break, one of them could pass for a line of the message. Text with letters from right to
 * left is isolated (U+2068), or figures after it would change places.
 */
export const oneLine = (text: string): string => {
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(line) ? `\u2068${line}\u2069` : line;
};

/** Cuts a text without splitting a surrogate pair. */
export const shortened = (text: string, maxLength: number): string =>
  text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '');

/** The same with an ellipsis where something is missing. */
export const cut = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${shortened(text, maxLength - 1)}…`;

const MAX_LINE_CHARACTERS = 350;
/** Shorter lines say nothing. */
const MIN_LINE_CHARACTERS = 40;

/** Builds a message for a service. Where the whole is too long for it, each line gets shorter: one long name must not displace the lines after it. */
export const fitted = <T>(
  { facts }: Pick<Message, 'facts'>,
  build: (facts: Message['facts']) => T,
  fits: (built: T) => boolean,
): T => {
  for (let max = MAX_LINE_CHARACTERS; ; max = Math.floor(max / 2)) {
    const built = build(facts.map(({ label, text }) => ({ label: cut(label, max), text: cut(text, max) })));
    if (fits(built) || max <= MIN_LINE_CHARACTERS) return built;
  }
};

/** Addresses with very long filters have no place in a message: the page that the message is about has the others, too. */
const MAX_URL_CHARACTERS = 2_000;

export const shortLinks = ({ links: [first, ...others] }: Pick<Message, 'links'>): readonly MessageLink[] => [
  first,
  ...others.filter(({ url }) => url.length <= MAX_URL_CHARACTERS),
];
