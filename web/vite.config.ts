import { defineConfig } from 'vite';

/** Where `npm run web` finds the API: the local stack. */
const STACK = process.env['STACK_URL'] ?? 'http://localhost:8787';

export default defineConfig({
  root: import.meta.dirname,
  build: {
    outDir: 'dist',
    // Browsers of the last two years or so; what is smaller is faster.
    target: 'es2023',
    modulePreload: { polyfill: false },
    // Everything is a file of its own: the content security policy allows nothing inline.
    assetsInlineLimit: 0,
    rolldownOptions: {
      // `use client` in libraries: there is no server here.
      checks: { moduleLevelDirective: false },
      output: {
        // The framework changes more rarely than the pages: its file stays cached from one deployment to the next.
        codeSplitting: {
          groups: [{ name: 'framework', test: /node_modules[\\/](react|react-dom|scheduler|@tanstack)[\\/]/ }],
        },
      },
    },
  },
  server: { proxy: { '/api': STACK, '/config.json': STACK } },
});
