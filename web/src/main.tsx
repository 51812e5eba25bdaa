import './theme/mantine.css';
import './theme/theme.css';
import './theme/page.css';
import { createTheme, MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { blockedStorage } from './api/problem.ts';
import { AppProvider, createApp, loadSettings } from './app.ts';
import { focusWhereLost, watchKeyboard } from './components/keyboard.ts';
import { forgetDrafts } from './forms/use-draft.ts';
import { createAppRouter } from './router.tsx';
import { CannotStart } from './shell/problems.tsx';

/** A comma that is typed begins decimals where the user's language writes it so. Elsewhere it divides thousands: 1,000 is not 1. */
const hasDecimalComma = (1.5).toLocaleString(navigator.language).includes(',');
const allowedDecimalSeparators = hasDecimalComma ? ['.', ','] : ['.'];

/** In such a language `1.000` is one or a thousand: a form with a number that was typed like that is not sent, and the field asks. */
const onInputCapture = ({ currentTarget }: React.FormEvent<HTMLInputElement>) => {
  const [, number] = (hasDecimalComma && /^\D*([1-9]\d{0,2}\.\d{3})\D*$/.exec(currentTarget.value)) || [];
  const question = `Is it ${number} or ${number?.replace('.', '')}? Leave the point out, or add a 0 at the end.`;
  currentTarget.setCustomValidity(number ? question : '');
};
const refuseUnclearNumbers = (event: SubmitEvent) => {
  const fields = [...(event.target as HTMLFormElement).querySelectorAll('input')];
  const unclear = fields.find(({ validity }) => validity.customError);
  if (!unclear) return;
  event.preventDefault();
  event.stopPropagation();
  unclear.reportValidity();
};

/** A comma that cannot divide thousands is pasted as a point, in each language: `0,001`, `12,50`, `1.000,50`. */
const onPasteCapture = (event: React.ClipboardEvent) => {
  const text = event.clipboardData.getData('text');
  if (!/^[^,]*,[^,.]*$/.test(text) || /^\D*[1-9]\d{0,2},\d{3}\D*$/.test(text)) return;
  event.preventDefault();
  event.stopPropagation();
  document.execCommand('insertText', false, text.replaceAll('.', '').replace(',', '.'));
};

/**
 * Colours, fonts and cursors are in first-paint.css and theme.css: Mantine would set them in a style element, which the page's policy
 * forbids. Components are configured by name and not imported here: the first page would load them all.
 */
const theme = createTheme({
  primaryColor: 'teal',
  defaultRadius: 'md',
  respectReducedMotion: true,
  components: {
    // Scroll lock would write a style element too.
    Modal: { defaultProps: { lockScroll: false, centered: true, closeButtonProps: { 'aria-label': 'Close' } } },
    Drawer: { defaultProps: { lockScroll: false, closeButtonProps: { 'aria-label': 'Close' } } },
    // Within a dialog a header would be another banner of the page.
    ModalHeader: { defaultProps: { component: 'div' } },
    DrawerHeader: { defaultProps: { component: 'div' } },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray' } },
    Tooltip: { defaultProps: { events: { hover: true, focus: true, touch: true } } },
    Badge: { defaultProps: { tt: 'none', variant: 'light' } },
    NumberInput: { defaultProps: { allowNegative: false, allowedDecimalSeparators, onInputCapture, onPasteCapture } },
    PasswordInput: { defaultProps: { visibilityToggleFocusable: true } },
    Switch: { defaultProps: { withThumbIndicator: false } },
    SegmentedControl: { defaultProps: { withItemsBorders: false } },
    Select: { defaultProps: { allowDeselect: false, comboboxProps: { shadow: 'md' } } },
  },
});

const root = createRoot(document.querySelector('#root') as Element);

const render = (content: React.ReactNode) =>
  root.render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
        {content}
      </MantineProvider>
    </StrictMode>,
  );

const start = async () => {
  watchKeyboard();
  document.addEventListener('submit', refuseUnclearNumbers, true);
  // A page that the browser kept while another was shown has not heard of the end of its session.
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
  const app = createApp(await loadSettings());
  await app.session.restore();
  const router = createAppRouter(app.session);
  app.session.onTakenOver(() => void router.invalidate());
  app.session.onEnd((reason) => {
    app.queryClient.clear();
    if (reason !== 'expired') forgetDrafts();
    const next = reason === 'expired' ? router.state.location.href : undefined;
    void router.navigate({ to: '/sign-in', search: { reason, next }, replace: true });
  });
  router.subscribe('onRendered', ({ pathChanged }) => pathChanged && focusWhereLost());
  // The frame of index.html stays until the page is there.
  await router.load();
  render(
    <QueryClientProvider client={app.queryClient}>
      <AppProvider value={app}>
        <RouterProvider router={router} />
      </AppProvider>
    </QueryClientProvider>,
  );
};

start().catch((error: Error) => render(<CannotStart reason={blockedStorage(error) ?? error.message} />));
