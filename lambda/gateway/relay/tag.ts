import { MAX_TAG_CHARACTERS } from '../../domain/usage/limits.ts';
import { headerText } from './header-text.ts';

/** The workload label of a request, and whether it was changed so that it can be stored. */
export interface Tag {
  readonly tag: string | null;
  readonly tagTruncated: boolean;
}

/** Most tags are plain ASCII and need no decoding. */
const PLAIN = new RegExp(`^[\\x20-\\x7e]{1,${MAX_TAG_CHARACTERS}}$`);

const NONE: Tag = { tag: null, tagTruncated: false };

const toTag = (value: string): Tag => {
  if (PLAIN.test(value)) return { tag: value, tagTruncated: false };
  const { text, isValid } = headerText(value);
  const characters = [...text];
  return {
    tag: characters.slice(0, MAX_TAG_CHARACTERS).join(''),
    tagTruncated: !isValid || characters.length > MAX_TAG_CHARACTERS,
  };
};

/**
 * Reads X-Service-Tag, else the first tag of LiteLLM's list. It cuts a tag after 64 characters (code points) and replaces bytes that are not
 * UTF-8 with U+FFFD; the record says so. It never refuses a request: the specification has no error for a bad tag.
 *
 * @see https://docs.litellm.ai/docs/proxy/cost_tracking for `x-litellm-tags`
 */
export const readTag = (headers: ReadonlyMap<string, string>): Tag => {
  const own = headers.get('x-service-tag')?.trim();
  if (own) return toTag(own);
  const listed = headers
    .get('x-litellm-tags')
    ?.split(',')
    .map((tag) => tag.trim())
    .filter(Boolean);
  if (!listed?.[0]) return NONE;
  const first = toTag(listed[0]);
  // A request has one tag.
  return { ...first, tagTruncated: first.tagTruncated || listed.length > 1 };
};
