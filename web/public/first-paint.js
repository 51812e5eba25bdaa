// Before the first paint: the colour scheme, so that dark mode does not flash white, and whether this tab has a session, which
// decides what the frame in index.html shows. The page's policy allows no inline script. Paper is white: printing is always light.
(() => {
  const page = document.documentElement;
  const name = 'data-mantine-color-scheme';
  let chosen = 'auto';
  try {
    chosen = localStorage.getItem('mantine-color-scheme-value') ?? chosen;
    if (sessionStorage.getItem('refresh-token') !== null) page.setAttribute('data-has-session', '');
  } catch {
    // A browser that blocks site data throws; the page says so.
  }
  const dark = chosen === 'dark' || (chosen === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
  page.setAttribute(name, dark ? 'dark' : 'light');
  let onScreen = null;
  addEventListener('beforeprint', () => {
    onScreen = page.getAttribute(name);
    page.setAttribute(name, 'light');
  });
  addEventListener('afterprint', () => page.setAttribute(name, onScreen));
})();
