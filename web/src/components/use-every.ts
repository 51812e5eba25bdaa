import { useEffect, useState } from 'react';

/**
 * Renders a part again and again: what it says of the time and of today stays true while the page is open.
 *
 * @param ms null where nothing that it says changes
 */
export const useEvery = (ms: number | null) => {
  const [, render] = useState(0);
  useEffect(() => {
    if (ms === null) return undefined;
    const timer = setInterval(() => render((times) => times + 1), ms);
    return () => clearInterval(timer);
  }, [ms]);
};
