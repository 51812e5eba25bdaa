import { Button } from '@mantine/core';
import { Unplug } from 'lucide-react';
import { EmptyState } from '../components/empty-state.tsx';

/** Shown when the settings of the deployment cannot be loaded. */
export const CannotStart = ({ reason }: { readonly reason: string }) => (
  <main className="page">
    <EmptyState
      icon={Unplug}
      title="The dashboard cannot start"
      action={<Button onClick={() => location.reload()}>Try again</Button>}
    >
      {reason}
    </EmptyState>
  </main>
);
