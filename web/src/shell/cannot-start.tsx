import { Button } from '@mantine/core';
import { Unplug } from 'lucide-react';
import { Nothing } from '../components/nothing.tsx';

/** The pages are there and what they need to begin is not. */
export const CannotStart = ({ reason }: { readonly reason: string }) => (
  <main className="page">
    <Nothing
      icon={Unplug}
      title="The dashboard cannot start"
      action={<Button onClick={() => location.reload()}>Try again</Button>}
    >
      {reason}
    </Nothing>
  </main>
);
