import { renameSync, writeFileSync } from 'node:fs';

/** Writes the file whole or not at all: if the process is killed meanwhile, the old content stays. @param mode of the file, e.g. 0o600 */
export const writeFileAtomically = (file: string, content: string, mode = 0o666): void => {
  const temporary = `${file}.new`;
  writeFileSync(temporary, content, { mode });
  renameSync(temporary, file);
};
