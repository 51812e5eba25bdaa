/** Text that is HTML already. */
export interface Html {
  readonly html: string;
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

type Part = string | number | Html | readonly Html[] | undefined;

const rendered = (part: Part): string => {
  if (part === undefined) return '';
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part));
  return 'html' in part ? part.html : part.map(({ html: text }) => text).join('');
};

/** HTML with everything put into it escaped, unless it is HTML itself. */
export const html = (texts: TemplateStringsArray, ...parts: readonly Part[]): Html => ({
  html: texts.map((text, index) => text + rendered(parts[index])).join(''),
});

const STYLE = `
  :root { color-scheme: light; --ink: #1a1f36; --soft: #697386; --line: #e3e8ee; --accent: #4f46e5; --bad: #b3093c; }
  * { box-sizing: border-box; }
  body { margin: 0; background: #f6f8fa; color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
  main { max-width: 26rem; margin: 8vh auto; padding: 0 1rem; }
  main.wide { max-width: 60rem; margin-top: 4vh; }
  .card { background: #fff; border: 1px solid var(--line); border-radius: 12px; padding: 1.75rem; margin-bottom: 1rem; box-shadow: 0 2px 8px #1a1f360d; }
  .note { color: var(--soft); font-size: .85rem; text-align: center; }
  h1 { font-size: 1.05rem; font-weight: 600; color: var(--soft); margin: 0; }
  h2 { font-size: 1rem; margin: 0 0 .75rem; }
  .price { font-size: 2.1rem; font-weight: 650; letter-spacing: -.02em; margin: .15rem 0 1.25rem; }
  .price small { font-size: 1rem; font-weight: 400; color: var(--soft); letter-spacing: 0; }
  label { display: block; font-size: .85rem; font-weight: 600; margin-bottom: .35rem; }
  input, select { width: 100%; padding: .6rem .75rem; font: inherit; border: 1px solid #cfd7df; border-radius: 8px; background: #fff; color: inherit; }
  button { width: 100%; margin-top: 1rem; padding: .65rem 1rem; font: inherit; font-weight: 600; color: #fff; background: var(--accent); border: 0; border-radius: 8px; cursor: pointer; }
  button.plain { color: var(--ink); background: #fff; border: 1px solid #cfd7df; }
  button:focus-visible, input:focus-visible, select:focus-visible, a:focus-visible { outline: 3px solid #a5b4fc; outline-offset: 1px; }
  a { color: var(--accent); }
  p { margin: .5rem 0; }
  .error { color: var(--bad); font-weight: 600; }
  .cards { color: var(--soft); font-size: .85rem; margin: .75rem 0 0; padding: 0; list-style: none; }
  code { font: .85em ui-monospace, monospace; }
  dl { display: grid; grid-template-columns: auto 1fr; gap: .35rem 1.25rem; margin: 0; }
  dt { color: var(--soft); } dd { margin: 0; text-align: right; }
  table { width: 100%; border-collapse: collapse; font-size: .9rem; }
  th { text-align: left; color: var(--soft); font-weight: 600; }
  th, td { padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
  .row { display: flex; flex-wrap: wrap; gap: .75rem; } .row form { flex: 1 1 10rem; } .row button { margin-top: 0; }
`;

export const layout = (title: string, content: Html, width: 'narrow' | 'wide' = 'narrow'): string =>
  `<!doctype html>${
    html`<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <style>${{ html: STYLE }}</style>
  </head>
  <body>
    <main class="${width}">
      ${content}
      <p class="note">A fake of Stripe on this machine: no money moves.</p>
    </main>
  </body>
</html>`.html
  }`;

export const day = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(0, 10);
