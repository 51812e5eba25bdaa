/** Only the agent: undici's index also replaces the dispatcher of the process's `fetch` and loads much that is not used here. */
declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici';
}

declare module 'undici/lib/core/symbols.js' {
  const symbols: { readonly kSocket: symbol; readonly kParser: symbol };
  export default symbols;
}
