// Plain JavaScript, loaded before anything else: an old Node cannot read the TypeScript entries, and undici needs 22.19.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    `Node ${process.versions.node} is too old: this needs Node 22.19 or newer. Run it through npm (npm start, npm run demo), which uses the Node 24 that npm ci installs on Linux x64; elsewhere install Node 24.`,
  );
  process.exit(1);
}
