import { searchOf, text } from '../search.ts';

/** A new limit begins with these: the page that links here knows its type and what it is about. */
export const limitSearch = searchOf({
  type: text,
  provider: text,
  model: text,
  tag: text,
  key: text,
  project: text,
  member: text,
  client: text,
});

export type LimitSearch = ReturnType<typeof limitSearch>;
