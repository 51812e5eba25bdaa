import { ActionIcon } from '@mantine/core';
import { Tags } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useApi } from '../app.ts';

const DeclareDimensions = lazy(() => import('./declare-dimensions.tsx'));

/** Opens the list of declared dimensions, for those who may change it. */
export const DimensionsButton = () => {
  const [isOpen, setIsOpen] = useState(false);
  const { data } = useApi().useQuery('get', '/auth/me', {}, { staleTime: Number.POSITIVE_INFINITY });
  if (!data?.user.permissions.includes('dimensions:write')) return null;
  return (
    <>
      <ActionIcon
        variant="default"
        size={30}
        aria-label="Dimensions"
        title="Dimensions"
        onClick={() => setIsOpen(true)}
      >
        <Tags size={16} />
      </ActionIcon>
      {isOpen && (
        <Suspense>
          <DeclareDimensions onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
    </>
  );
};
