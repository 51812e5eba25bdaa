import { Button } from '@mantine/core';
import { Bookmark } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import type { ViewPage } from '../../../lambda/domain/accounts/saved-view.ts';

const ViewsMenu = lazy(() => import('./views-menu.tsx'));

/** Opens the saved views of a page. The menu replaces the button: it is loaded when it is first asked for. */
export const ViewsButton = ({ page }: { readonly page: ViewPage }) => {
  const [isAsked, setIsAsked] = useState(false);
  const button = (
    <Button size="xs" variant="default" leftSection={<Bookmark size={14} />} onClick={() => setIsAsked(true)}>
      Views
    </Button>
  );
  return isAsked ? (
    <Suspense fallback={button}>
      <ViewsMenu page={page} />
    </Suspense>
  ) : (
    button
  );
};
