import { useHotkeys } from '@mantine/hooks';
import { Search } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import classes from './shell.module.css';

/** Loaded when it is first asked for. */
const Palette = lazy(() => import('./palette.tsx'));

const isApple = /mac|iphone|ipad/i.test(navigator.userAgent);

/** The button, and Ctrl-K or ⌘K anywhere, that opens the command palette. */
export const OpenPalette = () => {
  const [opened, setOpened] = useState(false);
  const open = () => setOpened(true);
  useHotkeys([['mod+K', open]], []);
  return (
    <>
      <button type="button" className={classes['palette']} onClick={open}>
        <Search size={16} aria-hidden />
        <span>Go to …</span>
        <kbd>{isApple ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      {opened && (
        <Suspense>
          <Palette onClose={() => setOpened(false)} />
        </Suspense>
      )}
    </>
  );
};
