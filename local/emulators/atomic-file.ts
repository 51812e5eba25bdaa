import { renameSync, writeFileSync } from 'node:fs';

/** Writes the file whole or not at all: a kill in the midst of it leaves the old content. */
export const writeFileAtomically = (file: string, content: string): void => {
  const temporary = `${file}.new`;
  writeFileSync(temporary, content);
  renameSync(temporary, file);
};
