import { Button } from '@mantine/core';
import { Bookmark } from 'lucide-react';
import { useState } from 'react';
import type { ViewPage } from '../../../lambda/domain/accounts/saved-view.ts';
import { later } from '../components/later.tsx';

const Face = ({ onClick }: { readonly onClick?: () => void }) => (
  <Button size="xs" variant="default" leftSection={<Bookmark size={14} />} onClick={onClick}>
    Views
  </Button>
);

const ViewsMenu = later(() => import('./views-menu.tsx'), <Face />);

/** Opens the saved views of a page. The menu replaces the button: it is loaded when it is first asked for. */
export const ViewsButton = ({ page }: { readonly page: ViewPage }) => {
  const [isAsked, setIsAsked] = useState(false);
  return isAsked ? <ViewsMenu page={page} /> : <Face onClick={() => setIsAsked(true)} />;
};
