import { createTheme } from '@mantine/core';

/**
 * Colours, fonts and cursors are in first-paint.css and theme.css: Mantine would set them in a style element, which the page's policy forbids. Components are configured
 * by name and not imported here: the first page would load them all.
 */
export const theme = createTheme({
  primaryColor: 'teal',
  defaultRadius: 'md',
  respectReducedMotion: true,
  components: {
    // Scroll lock would write a style element too.
    Modal: { defaultProps: { lockScroll: false, centered: true, closeButtonProps: { 'aria-label': 'Close' } } },
    Drawer: { defaultProps: { lockScroll: false, closeButtonProps: { 'aria-label': 'Close' } } },
    Tooltip: { defaultProps: { events: { hover: true, focus: true, touch: true } } },
    Badge: { defaultProps: { tt: 'none' } },
    NumberInput: { defaultProps: { allowNegative: false } },
    Switch: { defaultProps: { withThumbIndicator: false } },
    SegmentedControl: { defaultProps: { withItemsBorders: false } },
    Select: { defaultProps: { allowDeselect: false, comboboxProps: { shadow: 'md' } } },
  },
});
