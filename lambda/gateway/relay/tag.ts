import { MAX_TAG_CHARACTERS } from '../../domain/usage/limits.ts';
import { headerValue, type RawHeaders } from '../protocol/headers.ts';

/** The workload label of X-Service-Tag, and whether it had to be changed to be kept. */
export interface Tag {
  readonly tag: string | null;
  readonly tagTruncated: boolean;
}

/** What most tags are, and need no reading of bytes and characters. */
const PLAIN = new RegExp(`^[\\x20-\\x7e]{1,${MAX_TAG_CHARACTERS}}$`);

const NONE: Tag = { tag: null, tagTruncated: false };

/**
 * Reads X-Service-Tag. Longer than 64 characters (code points) is cut, bytes that are no UTF-8 become U+FFFD: the request
 * goes through all the same, and the record says so. The specification has no error for it, and tracking never breaks traffic.
 */
export const readTag = (headers: RawHeaders): Tag => {
  const value = headerValue(headers, 'x-service-tag')?.trim();
  if (!value) return NONE;
  if (PLAIN.test(value)) return { tag: value, tagTruncated: false };
  // Node hands header bytes over as latin1.
  const text = Buffer.from(value, 'latin1').toString('utf8');
  const characters = [...text];
  const tagTruncated =
    characters.length > MAX_TAG_CHARACTERS || (text.includes('\ufffd') && !value.includes('\xef\xbf\xbd'));
  return { tag: characters.slice(0, MAX_TAG_CHARACTERS).join(''), tagTruncated };
};
