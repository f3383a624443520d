// SPDX-License-Identifier: Apache-2.0
// Functions of the C library whose version grew with it though they stayed what they were: those that moved from other
// libraries in 2.34, and those of 2.29 that no longer report errors the old way. Whoever calls one calls its oldest version.
// The linker is given --wrap for each line `older`.

.macro older name:req, version=2.2.5
  .section .text.__wrap_\name, "ax", @progbits
  .globl __wrap_\name
  .hidden __wrap_\name
  .type __wrap_\name, @function
  .symver old_\name, \name@GLIBC_\version
__wrap_\name:
  jmp *old_\name@GOTPCREL(%rip)
  .size __wrap_\name, . - __wrap_\name
.endm

older __pthread_key_create
older dlclose
older dlerror
older dlinfo 2.3.3
older dlmopen 2.3.4
older dlopen
older dlsym
older dlvsym
older exp
older log2
older pow
older pthread_condattr_setpshared
older pthread_create
older pthread_detach
older pthread_getspecific
older pthread_join
older pthread_key_create
older pthread_key_delete
older pthread_kill
older pthread_mutex_trylock
older pthread_mutexattr_destroy
older pthread_mutexattr_init
older pthread_mutexattr_setpshared
older pthread_mutexattr_settype
older pthread_once
older pthread_rwlock_destroy
older pthread_rwlock_init
older pthread_rwlock_rdlock
older pthread_rwlock_timedrdlock
older pthread_rwlock_timedwrlock
older pthread_rwlock_tryrdlock
older pthread_rwlock_trywrlock
older pthread_rwlock_unlock
older pthread_rwlock_wrlock
older pthread_rwlockattr_destroy
older pthread_rwlockattr_init
older pthread_rwlockattr_setpshared
older pthread_setspecific
older pthread_spin_destroy
older pthread_spin_init
older pthread_spin_lock
older pthread_spin_trylock
older pthread_spin_unlock
older sem_destroy
older sem_init
older sem_post
older sem_timedwait
older sem_trywait
older sem_wait
older shm_open
older shm_unlink

.section .note.GNU-stack, "", @progbits
