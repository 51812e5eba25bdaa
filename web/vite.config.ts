import { defineConfig } from 'vite';

/** The local stack, whose API `npm run web` uses. */
const STACK = process.env['STACK_URL'] ?? 'http://localhost:8787';

export default defineConfig({
  root: import.meta.dirname,
  build: {
    outDir: 'dist',
    // Browsers of the last two years or so. Newer syntax makes smaller files.
    target: 'es2023',
    modulePreload: { polyfill: false },
    // The content security policy allows nothing inline.
    assetsInlineLimit: 0,
    rolldownOptions: {
      // Libraries have `use client` directives; these pages have no server part.
      checks: { moduleLevelDirective: false },
      output: {
        // The framework changes less often than the pages: its file stays cached across deployments.
        codeSplitting: {
          groups: [{ name: 'framework', test: /node_modules[\\/](react|react-dom|scheduler|@tanstack)[\\/]/ }],
        },
      },
    },
  },
  server: { proxy: { '/api': STACK, '/config.json': STACK } },
});
