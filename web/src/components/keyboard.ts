import { useEffect } from 'react';

let isByKey = false;

/**
 * Whether the keyboard is choosing: arrow keys go through all choices, and those on the way are no pages to come back to. In Safari no
 * radio button is `:focus-visible` then.
 */
export const isChoosingByKey = (): boolean =>
  isByKey && (document.activeElement?.matches('[type=radio], select') ?? false);

/** Where what had the focus is gone, such as with the page before: back to what had it earlier, or else to the page's content. */
export const focusWhereLost = (earlier: Element | null = null): void => {
  for (const to of [earlier, document.querySelector('#content')])
    if (document.activeElement === document.body && to instanceof HTMLElement) to.focus({ preventScroll: true });
};

/** Gives the focus back when a part goes that takes it and is shown only where it is wanted. */
export const useFocusBack = () =>
  useEffect(() => {
    const focused = document.activeElement;
    return () => focusWhereLost(focused);
  }, []);

/** For the button of a row: where it goes with its row, the focus stays at the list. */
export const focusStaysAtList = (button: HTMLElement | null) => {
  const list = button?.closest('[tabindex="0"]');
  // The row is still there.
  return () => queueMicrotask(() => focusWhereLost(list));
};

/** Escape closes the choices of a field before its dialog: Mantine marks the field for that, also while it has no choice to show. */
const unmarkWithoutChoices = ({ key, target }: KeyboardEvent) => {
  const field = target as Element;
  if (key !== 'Escape' || !field.matches('input[role=combobox]')) return;
  const choices = document.getElementById(field.getAttribute('aria-controls') ?? '');
  if (!choices?.checkVisibility()) field.removeAttribute('data-mantine-stop-propagation');
};

/** Notes what is chosen by. In a field with choices Enter chooses: it never sends the form, not even where there is nothing to choose. */
export const watchKeyboard = (): void => {
  for (const type of ['keydown', 'pointerdown'] as const)
    document.addEventListener(type, () => (isByKey = type === 'keydown'), true);
  // Before the dialogs, which listen at the window too.
  addEventListener('keydown', unmarkWithoutChoices, true);
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.target as Element).matches('input[role=combobox]')) event.preventDefault();
  });
};
