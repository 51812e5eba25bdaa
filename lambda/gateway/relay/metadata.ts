import { MAX_METADATA_CHARACTERS, MAX_METADATA_PAIRS } from '../../domain/usage/limits.ts';
import { isRaw } from '../../domain/usage/raw.ts';
import type { OpenEvent } from '../../domain/usage/usage-event.ts';
import { storableId } from './session.ts';

const NOT_ASCII = /[\u0080-\u00ff]/;

/** A header's value as text: Node decodes header bytes as latin1. `isValid`: they are UTF-8; other bytes become U+FFFD. */
export const headerText = (value: string): { readonly text: string; readonly isValid: boolean } => {
  if (!NOT_ASCII.test(value)) return { text: value, isValid: true };
  const text = Buffer.from(value, 'latin1').toString('utf8');
  // The client itself may send U+FFFD.
  return { text, isValid: !text.includes('\ufffd') || value.includes('\xef\xbf\xbd') };
};

export type Metadata = Pick<OpenEvent, 'metadata' | 'metadataTruncated'>;

/** Ten pairs of the longest names and values have fewer. */
const MAX_JSON_CHARACTERS = 16_384;
const PLAIN = new RegExp(`^[\\x21-\\x7e](?:[\\x20-\\x7e]{0,${MAX_METADATA_CHARACTERS - 2}}[\\x21-\\x7e])?$`);

/** JSON objects of names and values, in the order in which they count. */
const jsonHeaders: readonly string[] = [
  'x-service-metadata',
  // @see https://developers.cloudflare.com/ai-gateway/observability/custom-metadata/
  'cf-aig-metadata',
  // @see https://portkey.ai/docs/product/observability/metadata
  'x-portkey-metadata',
];
/** Helicone has a header for each name. @see https://docs.helicone.ai/features/advanced-usage/custom-properties */
const HELICONE_PROPERTY = 'helicone-property-';
/** @see https://docs.helicone.ai/features/advanced-usage/user-metrics */
const HELICONE_USER = 'helicone-user-id';
const USER = 'user';

const keepDigits = (_: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === 'number' ? (context?.source ?? String(value)) : value;

/** Numbers stay as they were written: an id may have more digits than a number holds. A reviver takes its time, and most have none. */
const parseJson = (text: string): unknown => JSON.parse(text, /[:\s]-?\d/.test(text) ? keepDigits : undefined);

/** Headers of one name are joined by commas, which makes of several objects the inside of an array. @throws SyntaxError */
const parseObjects = (text: string): readonly object[] | undefined => {
  const values = parseJson(`[${text}]`) as readonly unknown[];
  return values.every(isRaw) ? values : undefined;
};

/** Collects pairs within the limits, and notes whether something was cut or ignored. */
class Pairs {
  readonly #metadata: Record<string, string> = {};
  #count = 0;
  isTruncated = false;

  get metadata(): Record<string, string> | undefined {
    return this.#count > 0 ? this.#metadata : undefined;
  }

  /** The first of several values of one name counts. A null or empty value counts as none. */
  add(name: string, value: unknown): void {
    if (value === null || value === '') return;
    const storable = typeof value === 'string' || typeof value === 'boolean' ? this.#cut(String(value)) : '';
    const key = this.#cut(name);
    if (storable === '' || key === '' || key === '__proto__') this.isTruncated = true;
    else if (Object.hasOwn(this.#metadata, key)) this.isTruncated ||= this.#metadata[key] !== storable;
    else if (this.#count === MAX_METADATA_PAIRS) this.isTruncated = true;
    else {
      this.#metadata[key] = storable;
      this.#count += 1;
    }
  }

  /** Without control characters and lone surrogates, which become U+FFFD, and without white space around it. */
  #cut(text: string): string {
    if (PLAIN.test(text)) return text;
    const clean = text
      .trim()
      .toWellFormed()
      .replaceAll(/\p{Cc}/gu, '\ufffd');
    const characters = [...clean];
    if (characters.length > MAX_METADATA_CHARACTERS || clean !== text.trim()) this.isTruncated = true;
    return characters.slice(0, MAX_METADATA_CHARACTERS).join('');
  }
}

const addJson = (pairs: Pairs, value: string): void => {
  const { text, isValid } = headerText(value);
  if (!isValid) pairs.isTruncated = true;
  let json: readonly object[] | undefined;
  try {
    json = text.length <= MAX_JSON_CHARACTERS ? parseObjects(text) : undefined;
  } catch {
    // Malformed: it is ignored, and the record says so.
  }
  if (json === undefined) pairs.isTruncated = true;
  else for (const object of json) for (const [name, each] of Object.entries(object)) pairs.add(name, each);
};

/**
 * The client's own names and values for a request: from X-Service-Metadata, and from the headers of other gateways, so that a move from
 * there needs a new host only. Names of headers have no case, so those of Helicone's are in lower case. Metadata that breaks a limit is
 * cut or ignored, and marked; it is never an error.
 */
export const readMetadata = (headers: ReadonlyMap<string, string>): Metadata => {
  const pairs = new Pairs();
  for (const name of jsonHeaders) {
    const value = headers.get(name)?.trim();
    if (value) addJson(pairs, value);
  }
  for (const [name, value] of headers) {
    if (name === HELICONE_USER) {
      if (value.trim()) pairs.add(USER, storableId(value));
    } else if (name.startsWith(HELICONE_PROPERTY)) {
      const { text, isValid } = headerText(value.trim());
      if (!isValid) pairs.isTruncated = true;
      pairs.add(name.slice(HELICONE_PROPERTY.length), text);
    }
  }
  const { metadata, isTruncated } = pairs;
  return { ...(metadata && { metadata }), ...(isTruncated && { metadataTruncated: true }) };
};
