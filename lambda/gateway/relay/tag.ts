import { MAX_TAG_CHARACTERS } from '../../domain/usage/limits.ts';
import { headerValue, type RawHeaders } from '../protocol/headers.ts';

/** The workload label in X-Service-Tag, and whether it was changed so that it can be stored. */
export interface Tag {
  readonly tag: string | null;
  readonly tagTruncated: boolean;
}

/** Most tags are plain ASCII and need no decoding. */
const PLAIN = new RegExp(`^[\\x20-\\x7e]{1,${MAX_TAG_CHARACTERS}}$`);

const NONE: Tag = { tag: null, tagTruncated: false };

/**
 * Reads X-Service-Tag. It cuts a tag after 64 characters (code points) and replaces bytes that are not UTF-8 with U+FFFD; the
 * record says so. It never refuses a request: the specification has no error for a bad tag.
 */
export const readTag = (headers: RawHeaders): Tag => {
  const value = headerValue(headers, 'x-service-tag')?.trim();
  if (!value) return NONE;
  if (PLAIN.test(value)) return { tag: value, tagTruncated: false };
  // Node decodes header bytes as latin1.
  const text = Buffer.from(value, 'latin1').toString('utf8');
  const characters = [...text];
  const tagTruncated =
    characters.length > MAX_TAG_CHARACTERS || (text.includes('\ufffd') && !value.includes('\xef\xbf\xbd'));
  return { tag: characters.slice(0, MAX_TAG_CHARACTERS).join(''), tagTruncated };
};
