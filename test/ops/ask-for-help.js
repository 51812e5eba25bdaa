/** Runs commands with --help, all in one process: one for each would load the same modules thirty times. */
const write = process.stdout.write.bind(process.stdout);
const [node, , ...files] = process.argv;
const said = {};
for (const file of files) {
  const result = { stdout: '' };
  said[file] = result;
  process.argv = [node, file, '--help'];
  process.exitCode = 0;
  process.stdout.write = (text) => {
    result.stdout += text;
  };
  process.exit = (status) => {
    result.status ??= status;
    throw new Error('exit');
  };
  await import(file).catch((error) => {
    result.status ??= String(error);
  });
  result.status ??= process.exitCode;
}
write(JSON.stringify(said));
