// Before the first paint: the colour scheme, so that dark mode does not flash white, and whether this tab has a session, which
// decides what the frame in index.html shows. The page's policy allows no inline script.
(() => {
  const page = document.documentElement;
  const chosen = localStorage.getItem('mantine-color-scheme-value') ?? 'auto';
  const dark = chosen === 'dark' || (chosen === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
  page.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');
  if (sessionStorage.getItem('refresh-token') !== null) page.setAttribute('data-has-session', '');
})();
