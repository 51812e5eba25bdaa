import { createTheme } from '@mantine/core';

const FONT = "'Inter', 'Inter fallback', system-ui, sans-serif";
const MONO =
  "ui-monospace, 'SF Mono', 'Cascadia Mono', 'JetBrains Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";

/**
 * Colours are in theme.css: Mantine's own way of setting them writes a style element, which the page's policy forbids. Parts are
 * named here and not imported: the first page would load them all.
 */
export const theme = createTheme({
  primaryColor: 'teal',
  fontFamily: FONT,
  fontFamilyMonospace: MONO,
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // Locking the scroll writes a style element, too.
    Modal: { defaultProps: { lockScroll: false, centered: true, closeButtonProps: { 'aria-label': 'Close' } } },
    Drawer: { defaultProps: { lockScroll: false, closeButtonProps: { 'aria-label': 'Close' } } },
    Tooltip: { defaultProps: { events: { hover: true, focus: true, touch: true } } },
    SegmentedControl: { defaultProps: { withItemsBorders: false } },
    Select: { defaultProps: { comboboxProps: { shadow: 'md' } } },
  },
});
