import { defineConfig, type Plugin } from 'vite';

/** The local stack, whose API `npm run web` uses. */
const STACK = process.env['STACK_URL'] ?? 'http://localhost:8787';

/** The frame of all pages, and the first of them. */
const FIRST =
  /web[\\/]src[\\/](?:theme[\\/]|shell[\\/](?:shell|account|navigation)|overview[\\/](?!first-run|declare|trend-table)|chart[\\/]|views[\\/]views-button|spend[\\/]group-by)/;

/** The framework, and the components that most pages show. A component that the overview needs belongs here: FORMS has all the others. */
const FRAMEWORK =
  /node_modules[\\/](react|react-dom|scheduler|@tanstack)[\\/]|@mantine[\\/]hooks|@mantine[\\/]core[\\/]esm[\\/](core|components[\\/](ActionIcon|Alert|Anchor|Badge|Button|CloseButton|Group|Input|Loader|NativeSelect|Paper|Pill|Portal|Progress|SegmentedControl|Skeleton|Stack|Text|TextInput|Title|Transition|UnstyledButton|VisuallyHidden)[\\/])|lucide-react|src[\\/]components[\\/]keyboard/;
const FORMS = /floating-ui|@mantine[\\/]|components[\\/](buttons|copy)/;

/** Not parts of pages: those of forms would bring FORMS along. Nothing that imports zod: the first page has no form. */
const SHARED =
  /src[\\/](?:(?:app|notify|search)\.ts|(?:api|components|format|providers|spend)[\\/](?!sdk-snippet|buttons|copy)|limits[\\/](?:names|use))|lambda[\\/]domain[\\/](?:calendar[\\/]|spend[\\/](?!grouping)|hosts|money|providers)/;

/** The API's schemas, which only forms need. */
const SCHEMAS = /lambda[\\/]domain[\\/](?:limits|own-prices|reports|host-label|violations)/;

/** Behind the frame in index.html: a style sheet blocks the painting of what follows it, and the frame needs none of this one. */
const stylesAfterFrame: Plugin = {
  name: 'styles-after-frame',
  transformIndexHtml: {
    order: 'post',
    handler: (html) => {
      const link = /\s*<link rel="stylesheet" crossorigin[^>]*>/.exec(html)?.[0] ?? '';
      return html.replace(link, '').replace('<noscript>', `${link.trim()}\n    <noscript>`);
    },
  },
};

/** Colours of Mantine's that no page has: 2 kB of the first load. */
const UNUSED_COLOURS = /--mantine-color-(?:cyan|grape|green|indigo|lime|orange|pink|violet)-[\w-]+:[^;}]+;?/g;

const withoutUnusedColours: Plugin = {
  name: 'without-unused-colours',
  enforce: 'post',
  generateBundle: (_, files) => {
    for (const file of Object.values(files))
      if (file.type === 'asset' && file.fileName.endsWith('.css'))
        file.source = String(file.source).replace(UNUSED_COLOURS, '');
  },
};

export default defineConfig({
  plugins: [stylesAfterFrame, withoutUnusedColours],
  root: import.meta.dirname,
  build: {
    outDir: 'dist',
    // Browsers of the last two years or so. Newer syntax makes smaller files.
    target: 'es2023',
    modulePreload: { polyfill: false },
    // The content security policy allows nothing inline.
    assetsInlineLimit: 0,
    // One style sheet: the pages' own are a few kilobytes in all, and one that comes late shifts the layout.
    cssCodeSplit: false,
    rolldownOptions: {
      // Libraries have `use client` directives; these pages have no server part.
      checks: { moduleLevelDirective: false },
      // A schema that nothing of a page uses is not loaded for what it would do on import, which is nothing.
      treeshake: { moduleSideEffects: (id) => !/lambda[\\/]domain/.test(id) },
      output: {
        // Few files, none of which the first page loads in vain: the framework with what all pages show, forms and dialogs, and what
        // several pages share. Icons and components would come in a file each.
        codeSplitting: {
          groups: [
            { name: 'framework', test: FRAMEWORK, priority: 4 },
            // Before forms, which would take what their parts import along.
            { name: 'shared', test: SHARED, minShareCount: 3, priority: 3 },
            { name: 'forms', test: FORMS, minShareCount: 2, priority: 2 },
            { name: 'schemas', test: SCHEMAS, minShareCount: 2, priority: 1 },
            { name: 'first', test: FIRST, priority: 0 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': STACK, '/config.json': STACK } },
});
