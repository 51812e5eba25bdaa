import { defineConfig, type Plugin } from 'vite';

/** The local stack, whose API `npm run web` uses. */
const STACK = process.env['STACK_URL'] ?? 'http://localhost:8787';

/** The components that most pages show. A component that the overview needs belongs here: FORMS has all the others. */
const BASE =
  /@mantine[\\/]hooks|@mantine[\\/]core[\\/]esm[\\/](core|components[\\/](ActionIcon|Alert|Anchor|Badge|Button|CloseButton|Group|Input|Loader|NativeSelect|Paper|Pill|Portal|Progress|SegmentedControl|Skeleton|Stack|Text|TextInput|Title|Transition|UnstyledButton|VisuallyHidden)[\\/])|lucide-react/;
const FORMS = /floating-ui|@mantine[\\/]|components[\\/](confirm|copy|shown-once)/;

/** Not parts of pages: those of forms would bring FORMS along. */
const SHARED = /src[\\/](?:(?:api|components|format|providers|spend)[\\/]|limits[\\/](?:names|use-))|lambda[\\/]/;

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
      output: {
        // Few files, none of which the first page loads in vain: the framework, what all pages show, forms and dialogs, and what
        // several pages share. Icons and components would come in a file each.
        codeSplitting: {
          groups: [
            { name: 'framework', test: /node_modules[\\/](react|react-dom|scheduler|@tanstack)[\\/]/, priority: 4 },
            { name: 'base', test: BASE, priority: 3 },
            { name: 'forms', test: FORMS, minShareCount: 2, priority: 2 },
            { name: 'shared', test: SHARED, minShareCount: 3, priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': STACK, '/config.json': STACK } },
});
